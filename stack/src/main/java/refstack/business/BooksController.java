package refstack.business;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import refstack.core.ConditionalOnApp;
import refstack.core.Part;

/** Receipts of goods, payments, the general ledger and the report. */
@RestController
@ConditionalOnApp(Part.BUSINESS)
class BooksController {

    private final Office office;
    private final Books books;

    BooksController(Office office, Books books) {
        this.office = office;
        this.books = books;
    }

    @PostMapping("/business/receipts")
    ResponseEntity<byte[]> receive(@RequestParam("item") int item,
            @RequestParam("quantity") int quantity, @RequestParam("request") String id,
            HttpServletRequest request) {
        Quantity.check(quantity);
        return office.read(BusinessTransaction.RECEIVE, request,
                (desk, page) -> books.receive(item, quantity, id, desk, page));
    }

    @GetMapping("/business/accounts/{account}")
    ResponseEntity<byte[]> account(@PathVariable("account") int account,
            HttpServletRequest request) {
        return office.read(BusinessTransaction.ACCOUNT, request,
                (desk, page) -> books.account(account, page));
    }

    @PostMapping("/business/journal")
    ResponseEntity<byte[]> journal(@RequestParam("from") int from, @RequestParam("to") int to,
            @RequestParam("cents") long cents, @RequestParam("request") String id,
            HttpServletRequest request) {
        Quantity.checkCents(cents);
        return office.read(BusinessTransaction.JOURNAL, request,
                (desk, page) -> books.journal(from, to, cents, id, desk, page));
    }

    @PostMapping("/business/payments")
    ResponseEntity<byte[]> pay(@RequestParam("customer") int customer,
            @RequestParam("cents") long cents, @RequestParam("request") String id,
            HttpServletRequest request) {
        Quantity.checkCents(cents);
        return office.read(BusinessTransaction.PAY, request,
                (desk, page) -> books.pay(customer, cents, id, desk, page));
    }

    @GetMapping("/business/report")
    ResponseEntity<byte[]> report(HttpServletRequest request) {
        return office.read(BusinessTransaction.SALES_REPORT, request,
                (desk, page) -> books.salesReport(desk.branch(), page));
    }
}
