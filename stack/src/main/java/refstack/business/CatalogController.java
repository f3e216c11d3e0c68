package refstack.business;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;

/** Customers, items and stock, looked at. */
@RestController
@ConditionalOnApp(Part.BUSINESS)
class CatalogController {

    private final Office office;
    private final Customers customers;
    private final Catalog catalog;

    CatalogController(Office office, Customers customers, Catalog catalog) {
        this.office = office;
        this.customers = customers;
        this.catalog = catalog;
    }

    @GetMapping("/business/customers")
    ResponseEntity<byte[]> customers(@RequestParam("find") String find,
            HttpServletRequest request) {
        return office.read(BusinessTransaction.CUSTOMER_SEARCH, request,
                (desk, page) -> customers.search(Prefix.of(find), page));
    }

    @GetMapping("/business/customers/{customer}")
    ResponseEntity<byte[]> customer(@PathVariable("customer") int customer,
            HttpServletRequest request) {
        return office.read(BusinessTransaction.CUSTOMER, request,
                (desk, page) -> customers.show(customer, page));
    }

    @GetMapping("/business/items")
    ResponseEntity<byte[]> items(@RequestParam("find") String find, HttpServletRequest request) {
        return office.read(BusinessTransaction.ITEM_SEARCH, request,
                (desk, page) -> catalog.search(Prefix.of(find), page));
    }

    @GetMapping("/business/items/{item}")
    ResponseEntity<byte[]> item(@PathVariable("item") int item, HttpServletRequest request) {
        return office.serve(BusinessTransaction.ITEM, request,
                (desk, page) -> catalog.show(item, desk, page));
    }

    @GetMapping("/business/items/{item}/availability")
    ResponseEntity<byte[]> availability(@PathVariable("item") int item,
            HttpServletRequest request) {
        return office.read(BusinessTransaction.AVAILABILITY, request,
                (desk, page) -> catalog.availability(item, page));
    }
}
